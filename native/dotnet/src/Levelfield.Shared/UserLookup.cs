// What looking for a user in the store can come to.

namespace Levelfield.Shared;

public abstract record UserLookup
{
    private UserLookup()
    {
    }

    public sealed record Found(User User) : UserLookup;

    public sealed record NotFound : UserLookup;

    /// <summary>The document lacks a field, or holds something else than a string in it.</summary>
    public sealed record Malformed : UserLookup;

    /// <summary>No server could be reached, or there was no room for one more request.</summary>
    public sealed record Unavailable : UserLookup;

    /// <summary>The server was reached and stayed silent.</summary>
    public sealed record TimedOut : UserLookup;
}

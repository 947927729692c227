// The user record: what the contract shows of a document in the users' collection.

using System.Diagnostics.CodeAnalysis;
using MongoDB.Bson;

namespace Levelfield.Shared;

/// <summary>A user. The order of the properties is their order in the body.</summary>
public sealed record User(int Id, string Name, string Surname, string Email)
{
    /// <summary>
    /// Reads a document that was found under <paramref name="id"/>, whichever numeric type its _id has. Fields that
    /// the contract does not name are ignored.
    /// </summary>
    /// <param name="malformed">The first field that is missing, null or no string.</param>
    public static bool TryRead(
        int id,
        BsonDocument document,
        [NotNullWhen(true)] out User? user,
        [NotNullWhen(false)] out string? malformed)
    {
        user = null;
        if (Field("name") is not { } name)
        {
            malformed = "name";
            return false;
        }

        if (Field("surname") is not { } surname)
        {
            malformed = "surname";
            return false;
        }

        if (Field("email") is not { } email)
        {
            malformed = "email";
            return false;
        }

        user = new User(id, name, surname, email);
        malformed = null;
        return true;

        string? Field(string field) =>
            document.TryGetValue(field, out var value) && value.IsString ? value.AsString : null;
    }
}

// The id of a user, as it stands in a path.

using System.Globalization;

namespace Levelfield.Shared;

public static class UserId
{
    /// <summary>
    /// Takes 1 to 10 ASCII digits with a value in 0 ..= 2147483647, MongoDB's int32. Leading zeros mean nothing.
    /// </summary>
    /// <remarks>
    /// Not a route constraint: for those a wrong id is an unknown path, 404, and the contract says 400.
    /// </remarks>
    public static bool TryParse(string text, out int id)
    {
        id = 0;
        return text.Length <= 10 && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out id);
    }
}

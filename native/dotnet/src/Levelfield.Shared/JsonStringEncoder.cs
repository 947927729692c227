// The contract's escaping of JSON strings, which no encoder of .NET has: the relaxed one escapes, for example, a
// no-break space.

using System.Text.Encodings.Web;

namespace Levelfield.Shared;

/// <summary>Escapes quotation marks, backslashes and control characters below U+0020; all else stays as it is.</summary>
public sealed class JsonStringEncoder : JavaScriptEncoder
{
    /// <summary>The longest escape, as in \u001f.</summary>
    public override int MaxOutputCharactersPerInputCharacter => 6;

    public override bool WillEncode(int unicodeScalar) => unicodeScalar is < 0x20 or '"' or '\\';

    public override unsafe int FindFirstCharacterToEncode(char* text, int textLength)
    {
        for (var index = 0; index < textLength; index++)
        {
            if (WillEncode(text[index]))
            {
                return index;
            }
        }

        return -1;
    }

    public override unsafe bool TryEncodeUnicodeScalar(
        int unicodeScalar,
        char* buffer,
        int bufferLength,
        out int numberOfCharactersWritten)
    {
        var encoded = Escape(unicodeScalar);
        var fits = encoded.TryCopyTo(new Span<char>(buffer, bufferLength));
        numberOfCharactersWritten = fits ? encoded.Length : 0;
        return fits;
    }

    private static string Escape(int unicodeScalar) => unicodeScalar switch
    {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\b' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\f' => "\\f",
        '\r' => "\\r",
        < 0x20 => $"\\u{unicodeScalar:x4}",
        // The base class may ask for any character, not only for those that have to be escaped.
        _ => char.ConvertFromUtf32(unicodeScalar),
    };
}

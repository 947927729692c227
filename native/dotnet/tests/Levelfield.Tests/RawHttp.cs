// An HTTP client that sends a request target byte for byte: .NET's own tidies paths before it sends them.

using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Levelfield.Tests;

/// <summary>An answer. Its body is what followed the headers, so that chunks would show.</summary>
internal sealed record RawAnswer(int Status, IReadOnlyDictionary<string, string> Headers, string Body)
{
    /// <summary>A header's value, or null where the answer has no such header.</summary>
    public string? Header(string name) => Headers.GetValueOrDefault(name);
}

internal static class RawHttp
{
    /// <param name="request">Method, space, request target.</param>
    public static async Task<RawAnswer> AskAsync(Uri server, string request, CancellationToken cancellation)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(server.Host, server.Port, cancellation);
        await using var stream = client.GetStream();
        var head = $"{request} HTTP/1.1\r\nHost: {server.Authority}\r\nConnection: close\r\n\r\n";
        await stream.WriteAsync(Encoding.ASCII.GetBytes(head), cancellation);

        using var answer = new MemoryStream();
        await stream.CopyToAsync(answer, cancellation);
        return Parse(answer.ToArray());
    }

    private static RawAnswer Parse(byte[] answer)
    {
        var end = answer.AsSpan().IndexOf("\r\n\r\n"u8);
        Assert.True(end >= 0, "the answer has no end of headers");
        var lines = Encoding.ASCII.GetString(answer, 0, end).Split("\r\n");

        var status = int.Parse(lines[0].Split(' ')[1], CultureInfo.InvariantCulture);
        var headers = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        foreach (var line in lines.Skip(1))
        {
            var colon = line.IndexOf(':');
            headers.Add(line[..colon], line[(colon + 1)..].Trim());
        }

        return new RawAnswer(status, headers, Encoding.UTF8.GetString(answer.AsSpan(end + 4)));
    }
}

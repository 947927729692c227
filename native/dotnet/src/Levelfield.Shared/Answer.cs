// An answer of the contract: status, headers and body, and one value or method for each kind.

using System.Diagnostics;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Levelfield.Shared;

/// <summary>
/// A result for controllers and minimal handlers alike. ASP.NET Core's own add a charset to JSON and leave the
/// content-length out; the contract fixes both.
/// </summary>
public sealed class Answer : IResult
{
    private static readonly JsonSerializerOptions JsonOptions = new() { Encoder = new JsonStringEncoder() };

    private readonly int _status;
    private readonly string _contentType;
    private readonly byte[] _body;

    private Answer(int status, string contentType, byte[] body)
    {
        _status = status;
        _contentType = contentType;
        _body = body;
    }

    public static Answer Hello { get; } = Message(StatusCodes.Status200OK, "Hello world!");

    public static Answer Value { get; } = new(StatusCodes.Status200OK, "text/plain; charset=utf-8", "value"u8.ToArray());

    public static Answer InvalidPathParameter { get; } = Message(StatusCodes.Status400BadRequest, "invalid path parameter");

    public static Answer NotFound { get; } = Message(StatusCodes.Status404NotFound, "not found");

    public static Answer MethodNotAllowed { get; } = Message(StatusCodes.Status405MethodNotAllowed, "method not allowed");

    private static Answer UserNotFound { get; } = Message(StatusCodes.Status404NotFound, "user not found");

    private static Answer UserMalformed { get; } = Message(StatusCodes.Status500InternalServerError, "user record is malformed");

    private static Answer StoreUnavailable { get; } = Message(StatusCodes.Status503ServiceUnavailable, "users store unavailable");

    private static Answer StoreTimedOut { get; } = Message(StatusCodes.Status504GatewayTimeout, "users store timed out");

    public static Answer Page(string html) =>
        new(StatusCodes.Status200OK, "text/html; charset=utf-8", Encoding.UTF8.GetBytes(html));

    public static Answer Of(UserLookup lookup) => lookup switch
    {
        UserLookup.Found found => Json(StatusCodes.Status200OK, found.User),
        UserLookup.NotFound => UserNotFound,
        UserLookup.Malformed => UserMalformed,
        UserLookup.Unavailable => StoreUnavailable,
        UserLookup.TimedOut => StoreTimedOut,
        _ => throw new UnreachableException(),
    };

    public async Task ExecuteAsync(HttpContext httpContext)
    {
        var response = httpContext.Response;
        response.StatusCode = _status;
        response.ContentType = _contentType;
        response.ContentLength = _body.Length;
        if (_status == StatusCodes.Status503ServiceUnavailable)
        {
            response.Headers.RetryAfter = "1";
        }

        // To HEAD the server sends the headers and drops this.
        await response.Body.WriteAsync(_body, httpContext.RequestAborted);
    }

    private static Answer Message(int status, string message) => Json(status, new { message });

    private static Answer Json<T>(int status, T body) =>
        new(status, "application/json", JsonSerializer.SerializeToUtf8Bytes(body, JsonOptions));
}

// The filter in front of the router: the contract's judgement of the raw path, which ASP.NET Core would otherwise
// decode, clean and match without regard to case.

using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;

namespace Levelfield.Shared;

/// <summary>
/// Refuses, in the contract's order, a path with a percent sign (400), with two slashes in a row (404) and one that
/// no route has (404). What is left is for the router, which drops one trailing slash by itself and judges the
/// method; the filter gives its 405 the body.
/// </summary>
public sealed class ContractFilter(RequestDelegate next, EndpointDataSource endpoints)
{
    private readonly KnownPaths _known = new(endpoints.Endpoints);

    public async Task InvokeAsync(HttpContext context)
    {
        if (Refusal(context) is { } refusal)
        {
            await refusal.ExecuteAsync(context);
            return;
        }

        await next(context);

        var response = context.Response;
        if (response.StatusCode == StatusCodes.Status405MethodNotAllowed && !response.HasStarted)
        {
            await Answer.MethodNotAllowed.ExecuteAsync(context);
        }
    }

    private Answer? Refusal(HttpContext context)
    {
        var path = RawPath(context);
        if (path.Contains('%'))
        {
            return Answer.InvalidPathParameter;
        }

        if (path.Contains("//", StringComparison.Ordinal) || !_known.Contains(path))
        {
            return Answer.NotFound;
        }

        return null;
    }

    // The path as it came, without the query string. A target in absolute form has the host in front: there the
    // server's own reading of the path is taken.
    private static ReadOnlySpan<char> RawPath(HttpContext context)
    {
        var target = context.Features.Get<IHttpRequestFeature>()?.RawTarget ?? "";
        if (!target.StartsWith('/'))
        {
            return context.Request.Path.Value;
        }

        var query = target.IndexOf('?');
        return target.AsSpan(0, query < 0 ? target.Length : query);
    }
}

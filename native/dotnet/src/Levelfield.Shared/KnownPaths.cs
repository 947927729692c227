// The paths that the router knows, matched with regard to case, which the router itself cannot do.

using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Routing.Patterns;

namespace Levelfield.Shared;

internal sealed class KnownPaths(IEnumerable<Endpoint> endpoints)
{
    // A route is its segments: a literal's text, or null for a parameter.
    private readonly string?[][] _routes =
        [.. endpoints.OfType<RouteEndpoint>().Select(endpoint => Segments(endpoint.RoutePattern))];

    /// <summary>Whether a route has this path, whatever the method. One trailing slash is overlooked.</summary>
    public bool Contains(ReadOnlySpan<char> path)
    {
        if (path.Length > 0 && path[^1] == '/')
        {
            path = path[..^1];
        }

        foreach (var route in _routes)
        {
            if (Matches(route, path))
            {
                return true;
            }
        }

        return false;
    }

    private static bool Matches(string?[] route, ReadOnlySpan<char> path)
    {
        foreach (var literal in route)
        {
            // Before each segment stands a slash, and no segment is empty.
            if (path.Length < 2 || path[0] != '/')
            {
                return false;
            }

            path = path[1..];
            var end = path.IndexOf('/');
            var segment = end < 0 ? path : path[..end];
            if (literal is not null && !segment.SequenceEqual(literal))
            {
                return false;
            }

            path = path[segment.Length..];
        }

        return path.Length == 0;
    }

    private static string?[] Segments(RoutePattern pattern) =>
        [.. pattern.PathSegments.Select(segment => (segment.Parts[0] as RoutePatternLiteralPart)?.Content)];
}

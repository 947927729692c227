// What a build takes from its environment and its command line, checked before anything starts.

using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using Microsoft.Extensions.Configuration;
using MongoDB.Driver;

namespace Levelfield.Shared;

/// <param name="Listen">The address and port to listen on.</param>
/// <param name="Store">The users' store, as the connection string describes it.</param>
/// <param name="Year">The year that the pages show, or null for the current one in UTC.</param>
public sealed record Settings(IPEndPoint Listen, MongoClientSettings Store, int? Year)
{
    private const string DefaultConnectionString = "mongodb://127.0.0.1:27017/?directConnection=true";

    /// <summary>Reads the settings; on failure, <paramref name="problem"/> is the line to show the user.</summary>
    public static bool TryRead(
        IConfiguration configuration,
        int defaultPort,
        [NotNullWhen(true)] out Settings? settings,
        [NotNullWhen(false)] out string? problem)
    {
        settings = null;

        // An empty value counts as none, as in every other build.
        var listen = Value("listen") ?? Value("LISTEN_ADDR") ?? $"127.0.0.1:{defaultPort}";
        if (!TryParseEndPoint(listen, out var endPoint))
        {
            problem = $"LISTEN_ADDR or --listen: \"{listen}\" is not an IP address and a port, like 127.0.0.1:{defaultPort}";
            return false;
        }

        if (!TryParseStore(Value("CONNECTION_STRING") ?? DefaultConnectionString, out var store))
        {
            // The value may hold a password, so it is not repeated.
            problem = $"CONNECTION_STRING is not a MongoDB connection string, like {DefaultConnectionString}";
            return false;
        }

        int? year = null;
        if (Value("LEVELFIELD_YEAR") is { } text)
        {
            if (!int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) || number is < 1 or > 9999)
            {
                problem = $"LEVELFIELD_YEAR: \"{text}\" is not a year from 1 to 9999; unset it for the current one";
                return false;
            }

            year = number;
        }

        settings = new Settings(endPoint, store, year);
        problem = null;
        return true;

        string? Value(string key) => configuration[key] is { Length: > 0 } value ? value : null;
    }

    // IPEndPoint.TryParse takes an address without a port, too, and makes the port 0.
    private static bool TryParseEndPoint(string text, [NotNullWhen(true)] out IPEndPoint? endPoint) =>
        IPEndPoint.TryParse(text, out endPoint) && text.EndsWith($":{endPoint.Port}", StringComparison.Ordinal);

    private static bool TryParseStore(string connectionString, [NotNullWhen(true)] out MongoClientSettings? store)
    {
        try
        {
            store = MongoClientSettings.FromConnectionString(connectionString);
            return true;
        }
        catch (Exception exception) when (exception is MongoException or ArgumentException or FormatException)
        {
            store = null;
            return false;
        }
    }
}

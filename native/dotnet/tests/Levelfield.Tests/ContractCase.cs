// The contract's cases, from the files that every build is checked against.

using System.Text;
using System.Text.Json;

namespace Levelfield.Tests;

/// <summary>A case, see contract/cases/README.md.</summary>
internal sealed record ContractCase(
    string Name,
    string Request,
    int Status,
    Dictionary<string, string> Headers,
    string? Body,
    string? Golden,
    string? Store)
{
    private static readonly string Contract = Path.Combine(AppContext.BaseDirectory, "contract");

    /// <summary>
    /// The cases that need no seeded store, by file and name. The others are for `levelfield check`, which starts one.
    /// </summary>
    public static IReadOnlyDictionary<string, ContractCase> WithoutSeed { get; } = Directory
        .GetFiles(Path.Combine(Contract, "cases"), "*.json")
        .SelectMany(path => Read(path))
        .Where(entry => entry.Value.Store != "up")
        .ToDictionary();

    public string ExpectedBody => Golden is null
        ? Body ?? ""
        : Encoding.UTF8.GetString(File.ReadAllBytes(Path.Combine(Contract, "pages", Golden)));

    private static IEnumerable<KeyValuePair<string, ContractCase>> Read(string path)
    {
        var cases = JsonSerializer.Deserialize<ContractCase[]>(File.ReadAllBytes(path), JsonSerializerOptions.Web) ?? [];
        return cases.Select(found => KeyValuePair.Create($"{Path.GetFileNameWithoutExtension(path)}: {found.Name}", found));
    }
}

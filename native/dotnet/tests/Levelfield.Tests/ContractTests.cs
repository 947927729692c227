// Both builds against the contract's cases, with GET and HEAD, and on their way out.

using System.Text;
using Levelfield.Minimal;
using Levelfield.Mvc.Controllers;

namespace Levelfield.Tests;

public sealed class MvcContractTests(Servers<UsersController> servers) : ContractTests<UsersController>(servers);

public sealed class MinimalContractTests(Servers<ViewRenderer> servers) : ContractTests<ViewRenderer>(servers);

public abstract class ContractTests<TEntryPoint>(Servers<TEntryPoint> servers) : IClassFixture<Servers<TEntryPoint>>
    where TEntryPoint : class
{
    // Far beyond the contract's times, which `levelfield check` measures.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    public static TheoryData<string> Cases() => new(ContractCase.WithoutSeed.Keys);

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task The_answer_is_the_contracts(string name)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        patience.CancelAfter(Patience);
        var expected = ContractCase.WithoutSeed[name];
        var server = expected.Store == "stalled" ? servers.StoreStalled.Address : servers.StoreUnreachable.Address;

        var answer = await RawHttp.AskAsync(server, expected.Request, patience.Token);
        AssertHead(expected, answer);
        Assert.Equal(expected.ExpectedBody, answer.Body);

        if (expected.Request.StartsWith("GET ", StringComparison.Ordinal))
        {
            var head = await RawHttp.AskAsync(server, $"HEAD {expected.Request["GET ".Length..]}", patience.Token);
            AssertHead(expected, head);
            Assert.Equal("", head.Body);
        }
    }

    [Fact]
    public async Task A_request_in_flight_is_answered_before_the_server_stops()
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        patience.CancelAfter(Patience);
        using var own = new Servers<TEntryPoint>();

        var inFlight = RawHttp.AskAsync(own.StoreStalled.Address, "GET /users/1", patience.Token);
        // The store never answers, so the request is in flight for 2 s; half a second is for it to arrive.
        await Task.Delay(TimeSpan.FromMilliseconds(500), patience.Token);
        // Stops the host, which is what SIGTERM does.
        await own.StoreStalled.DisposeAsync();

        Assert.Equal(504, (await inFlight).Status);
    }

    private static void AssertHead(ContractCase expected, RawAnswer answer)
    {
        Assert.Equal(expected.Status, answer.Status);
        Assert.Equal($"{Encoding.UTF8.GetByteCount(expected.ExpectedBody)}", answer.Header("content-length"));
        Assert.Equal(expected.Headers.GetValueOrDefault("content-type"), answer.Header("content-type"));
        Assert.Equal(expected.Headers.GetValueOrDefault("retry-after"), answer.Header("retry-after"));
        Assert.Equal(Methods(expected.Headers.GetValueOrDefault("allow")), Methods(answer.Header("allow")));
    }

    private static string Methods(string? allow) =>
        string.Join(' ', (allow ?? "").Split(',', StringSplitOptions.TrimEntries).Order());
}

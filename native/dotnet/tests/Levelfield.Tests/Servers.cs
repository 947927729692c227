// A build under test on real sockets, once for each state of the users' store that a test can bring about by itself.

using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc.Testing;

namespace Levelfield.Tests;

/// <typeparam name="TEntryPoint">Any type of the build's assembly.</typeparam>
public sealed class Servers<TEntryPoint> : IDisposable
    where TEntryPoint : class
{
    // Never accepts: the system completes the handshakes, and nobody answers.
    private readonly TcpListener _silentStore = new(IPAddress.Loopback, port: 0);

    public Servers()
    {
        _silentStore.Start();
        StoreStalled = new Server<TEntryPoint>(PortOf(_silentStore));
        StoreUnreachable = new Server<TEntryPoint>(ClosedPort());
    }

    public Server<TEntryPoint> StoreStalled { get; }

    public Server<TEntryPoint> StoreUnreachable { get; }

    public void Dispose()
    {
        StoreStalled.Dispose();
        StoreUnreachable.Dispose();
        _silentStore.Dispose();
    }

    private static int ClosedPort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, port: 0);
        listener.Start();
        return PortOf(listener);
    }

    private static int PortOf(TcpListener listener) => ((IPEndPoint)listener.LocalEndpoint).Port;
}

/// <summary>A build, listening on a port of its own and looking for its store on a given one.</summary>
public sealed class Server<TEntryPoint> : WebApplicationFactory<TEntryPoint>
    where TEntryPoint : class
{
    private readonly int _storePort;

    public Server(int storePort)
    {
        _storePort = storePort;
        UseKestrel();
        StartServer();
    }

    public Uri Address => ClientOptions.BaseAddress;

    protected override void ConfigureWebHost(IWebHostBuilder builder)
    {
        builder.UseSetting("LISTEN_ADDR", "127.0.0.1:0");
        builder.UseSetting("CONNECTION_STRING", $"mongodb://127.0.0.1:{_storePort}/?directConnection=true");
        builder.UseSetting("LEVELFIELD_YEAR", "2026");
    }
}

// The users' store: one pooled client for the process, and the contract's times.

using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using MongoDB.Bson;
using MongoDB.Driver;
using MongoDB.Driver.Core.Clusters;
using MongoDB.Driver.Core.Configuration;
using MongoDB.Driver.Core.Events;

namespace Levelfield.Shared;

public sealed class UserStore : IDisposable
{
    // A server that was reached has this long to answer: 504 after it.
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(2);

    // These two may follow one another and have to end by 1.5 s: 503 after them.
    private static readonly TimeSpan ServerSelectionTimeout = TimeSpan.FromMilliseconds(900);
    private static readonly TimeSpan WaitQueueTimeout = TimeSpan.FromMilliseconds(500);

    private readonly MongoClient _client;
    private readonly IMongoCollection<BsonDocument> _users;
    private readonly ILogger<UserStore> _logger;

    // Whether the last attempt to connect got through to a listening server.
    private volatile bool _reached;

    public UserStore(Settings settings, ILogger<UserStore> logger)
    {
        var store = settings.Store.Clone();
        store.ServerSelectionTimeout = ServerSelectionTimeout;
        store.WaitQueueTimeout = WaitQueueTimeout;
        store.ClusterConfigurator = ObserveConnecting;

        _logger = logger;
        _client = new MongoClient(store);
        _users = _client.GetDatabase("mongo").GetCollection<BsonDocument>("users");
    }

    /// <summary>Looks for a user. Failures are logged here, once, and are part of the result.</summary>
    public async Task<UserLookup> FindAsync(int id, CancellationToken requestAborted)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(requestAborted);
        deadline.CancelAfter(Deadline);
        while (true)
        {
            try
            {
                // MongoDB compares numbers by value: an int32 finds an _id of int64 or double, too.
                var filter = Builders<BsonDocument>.Filter.Eq("_id", id);
                var document = await _users.Find(filter).FirstOrDefaultAsync(deadline.Token);
                return Read(id, document);
            }
            catch (OperationCanceledException) when (!requestAborted.IsCancellationRequested)
            {
                _logger.LogError("users store timed out: user {Id}", id);
                return new UserLookup.TimedOut();
            }
            catch (TimeoutException) when (IsSilent())
            {
                // Connected, but not greeted yet. That is no lack of a server, so the deadline decides.
            }
            catch (Exception exception) when (exception is TimeoutException or MongoException)
            {
                _logger.LogError("users store unavailable: user {Id}: {Reason}", id, exception.Message);
                return new UserLookup.Unavailable();
            }
        }
    }

    public void Dispose() => _client.Dispose();

    private UserLookup Read(int id, BsonDocument? document)
    {
        if (document is null)
        {
            return new UserLookup.NotFound();
        }

        if (User.TryRead(id, document, out var user, out var malformed))
        {
            return new UserLookup.Found(user);
        }

        _logger.LogError("user record is malformed: _id {Id}, field {Field}", id, malformed);
        return new UserLookup.Malformed();
    }

    // The driver reports "no server yet" alike whether a server refuses connections or takes them and says nothing.
    // The contract tells the two apart, so the sockets and the heartbeats are watched.
    private void ObserveConnecting(ClusterBuilder cluster)
    {
        Action<Socket> connected = _ => _reached = true;
        cluster.ConfigureTcp(tcp => tcp.With(socketConfigurator: connected));
        cluster.Subscribe<ServerHeartbeatFailedEvent>(_ => _reached = false);
    }

    private bool IsSilent() => _reached && _client.Cluster.Description.State == ClusterState.Disconnected;
}

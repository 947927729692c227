// Settings: what counts, what wins, and the line that a bad one gets.

using Levelfield.Shared;
using Microsoft.Extensions.Configuration;

namespace Levelfield.Tests;

public sealed class SettingsTests
{
    [Fact]
    public void Nothing_set_means_the_defaults()
    {
        Assert.True(Settings.TryRead(Configuration(), 8081, out var settings, out _));
        Assert.Equal("127.0.0.1:8081", settings.Listen.ToString());
        Assert.Equal("127.0.0.1:27017", settings.Store.Server.ToString());
        Assert.True(settings.Store.DirectConnection);
        Assert.Null(settings.Year);
    }

    [Fact]
    public void The_command_line_wins_over_the_environment()
    {
        var configuration = Configuration(("LISTEN_ADDR", "0.0.0.0:80"), ("listen", "[::1]:9000"), ("LEVELFIELD_YEAR", "2031"));

        Assert.True(Settings.TryRead(configuration, 8081, out var settings, out _));
        Assert.Equal("[::1]:9000", settings.Listen.ToString());
        Assert.Equal(2031, settings.Year);
    }

    [Theory]
    [InlineData("LISTEN_ADDR", "8081")]
    [InlineData("LISTEN_ADDR", "127.0.0.1")]
    [InlineData("LISTEN_ADDR", "localhost:8081")]
    [InlineData("CONNECTION_STRING", "postgres://somewhere")]
    [InlineData("LEVELFIELD_YEAR", "0")]
    [InlineData("LEVELFIELD_YEAR", "10000")]
    [InlineData("LEVELFIELD_YEAR", "-1")]
    [InlineData("LEVELFIELD_YEAR", "next")]
    public void A_bad_setting_is_named(string key, string value)
    {
        Assert.False(Settings.TryRead(Configuration((key, value)), 8081, out _, out var problem));
        Assert.Contains(key, problem, StringComparison.Ordinal);
    }

    private static IConfiguration Configuration(params (string Key, string Value)[] settings) =>
        new ConfigurationBuilder()
            .AddInMemoryCollection(settings.Select(setting => KeyValuePair.Create(setting.Key, (string?)setting.Value)))
            .Build();
}

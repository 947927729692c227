// What both builds' hosts have in common: logging, listening, services and the way to the router.

using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Levelfield.Shared;

public static class LevelfieldHosting
{
    /// <summary>Adds the services of the contract and configures Kestrel and the logs.</summary>
    public static void AddLevelfield(this WebApplicationBuilder builder, Settings settings)
    {
        builder.Logging.SetMinimumLevel(LogLevel.Error);
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(settings.Listen));
        builder.Services.AddSingleton(settings);
        builder.Services.AddSingleton<UserStore>();
        builder.Services.AddSingleton<PageViewModels>();
        builder.Services.AddHealthChecks();
    }

    /// <summary>
    /// Builds the way to the router: to be called before routes are mapped. The host drains on SIGTERM by itself: it
    /// stops accepting, finishes what is in flight within 30 s, and exits with 0.
    /// </summary>
    public static void UseLevelfield(this WebApplication app)
    {
        // The client starts to look for its server when it is made; the first request should not have to wait for that.
        app.Services.GetRequiredService<UserStore>();

        app.UseMiddleware<ContractFilter>();
        // Named here because WebApplication would otherwise route before the filter.
        app.UseRouting();
        app.MapHealthChecks("/healthz");
    }
}

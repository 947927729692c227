// The views escape what the model holds, under either build's services.

using System.Net;
using Levelfield.Minimal;
using Levelfield.Mvc.Controllers;
using Levelfield.Shared;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace Levelfield.Tests;

public sealed class MvcViewTests(Servers<UsersController> servers) : ViewTests<UsersController>(servers);

public sealed class MinimalViewTests(Servers<ViewRenderer> servers) : ViewTests<ViewRenderer>(servers);

public abstract class ViewTests<TEntryPoint>(Servers<TEntryPoint> servers) : IClassFixture<Servers<TEntryPoint>>
    where TEntryPoint : class
{
    private const string Markup = "<b>\"&'+";

    [Theory]
    [InlineData("Index")]
    [InlineData("About")]
    [InlineData("Contact")]
    public async Task Markup_in_the_model_is_escaped(string view)
    {
        await using var scope = servers.StoreUnreachable.Services.CreateAsyncScope();
        var renderer = ActivatorUtilities.CreateInstance<ViewRenderer>(scope.ServiceProvider);
        var context = new DefaultHttpContext { RequestServices = scope.ServiceProvider };

        var html = await renderer.RenderAsync(context, $"/Views/Home/{view}.cshtml", new PageViewModel(Markup, Markup, 1));

        Assert.DoesNotContain("<b>", html, StringComparison.Ordinal);
        Assert.Equal(Markup, WebUtility.HtmlDecode(Between(html, "<title>", "</title>")));
        Assert.Equal(Markup, WebUtility.HtmlDecode(Between(html, "<h1>", "</h1>")));
        Assert.Equal(Markup, WebUtility.HtmlDecode(Between(html, "<p class=\"lead\">", "</p>")));
    }

    private static string Between(string html, string start, string end)
    {
        var from = html.IndexOf(start, StringComparison.Ordinal) + start.Length;
        return html[from..html.IndexOf(end, from, StringComparison.Ordinal)];
    }
}

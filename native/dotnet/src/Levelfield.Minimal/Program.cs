// Levelfield as a minimal API.

using Levelfield.Minimal;
using Levelfield.Shared;

// No file watchers: the settings come from the environment, and the default is to watch the whole working directory.
var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false", .. args]);
if (!Settings.TryRead(builder.Configuration, defaultPort: 8087, out var settings, out var problem))
{
    Console.Error.WriteLine(problem);
    return 2;
}

builder.AddLevelfield(settings);
// Of MVC the view engine alone, for the pages: no controllers, no model binding, no filters.
builder.Services.AddMvcCore().AddRazorViewEngine();
builder.Services.AddSingleton<ViewRenderer>();

var app = builder.Build();
app.UseLevelfield();

string[] methods = ["GET", "HEAD"];
app.MapMethods("/helloWorld", methods, () => Answer.Hello);
app.MapMethods("/users/{id}", methods, async (string id, UserStore users, CancellationToken requestAborted) =>
    UserId.TryParse(id, out var userId)
        ? Answer.Of(await users.FindAsync(userId, requestAborted))
        : Answer.InvalidPathParameter);
app.MapMethods("/api/values/{id}", methods, () => Answer.Value);
app.MapMethods("/", methods, async (HttpContext context, ViewRenderer views, PageViewModels pages) =>
    Answer.Page(await views.RenderAsync(context, "/Views/Home/Index.cshtml", pages.Home)));
app.MapMethods("/about", methods, async (HttpContext context, ViewRenderer views, PageViewModels pages) =>
    Answer.Page(await views.RenderAsync(context, "/Views/Home/About.cshtml", pages.About)));
app.MapMethods("/contact", methods, async (HttpContext context, ViewRenderer views, PageViewModels pages) =>
    Answer.Page(await views.RenderAsync(context, "/Views/Home/Contact.cshtml", pages.Contact)));

app.Run();
return 0;

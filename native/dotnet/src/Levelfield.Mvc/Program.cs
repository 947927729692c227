// Levelfield with controllers and Razor views.

using Levelfield.Shared;

// No file watchers: the settings come from the environment, and the default is to watch the whole working directory.
var builder = WebApplication.CreateBuilder(["--hostBuilder:reloadConfigOnChange=false", .. args]);
if (!Settings.TryRead(builder.Configuration, defaultPort: 8081, out var settings, out var problem))
{
    Console.Error.WriteLine(problem);
    return 2;
}

builder.AddLevelfield(settings);
builder.Services.AddControllersWithViews();

var app = builder.Build();
app.UseLevelfield();
app.MapControllers();
app.Run();
return 0;

// Razor views without controllers: the shared library's views, rendered to a string.

using Microsoft.AspNetCore.Mvc;
using Microsoft.AspNetCore.Mvc.Abstractions;
using Microsoft.AspNetCore.Mvc.ModelBinding;
using Microsoft.AspNetCore.Mvc.Razor;
using Microsoft.AspNetCore.Mvc.Rendering;
using Microsoft.AspNetCore.Mvc.ViewFeatures;

namespace Levelfield.Minimal;

public sealed class ViewRenderer(
    IRazorViewEngine engine,
    IModelMetadataProvider metadata,
    ITempDataDictionaryFactory tempData)
{
    /// <summary>Renders the view at <paramref name="path"/>, in its layout, for this model.</summary>
    public async Task<string> RenderAsync<TModel>(HttpContext context, string path, TModel model)
    {
        if (engine.GetView(executingFilePath: null, viewPath: path, isMainPage: true).View is not { } view)
        {
            throw new InvalidOperationException($"No view {path} was compiled into the application.");
        }

        using var writer = new StringWriter();
        await view.RenderAsync(new ViewContext(
            new ActionContext(context, new RouteData(), new ActionDescriptor()),
            view,
            new ViewDataDictionary<TModel>(metadata, new ModelStateDictionary()) { Model = model },
            tempData.GetTempData(context),
            writer,
            new HtmlHelperOptions()));
        return writer.ToString();
    }
}

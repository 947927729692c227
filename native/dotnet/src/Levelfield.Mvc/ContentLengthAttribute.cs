// The filter that buffers a rendered view to give it a content-length.

using Microsoft.AspNetCore.Mvc.Filters;

namespace Levelfield.Mvc;

/// <summary>
/// Razor writes a view to the response as it renders, so the server would have to send it chunked; the contract asks
/// for a content-length.
/// </summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ContentLengthAttribute : ResultFilterAttribute
{
    public override async Task OnResultExecutionAsync(ResultExecutingContext context, ResultExecutionDelegate next)
    {
        var response = context.HttpContext.Response;
        var body = response.Body;
        using var buffer = new MemoryStream();
        response.Body = buffer;
        ResultExecutedContext executed;
        try
        {
            executed = await next();
        }
        finally
        {
            response.Body = body;
        }

        if (executed.Exception is null || executed.ExceptionHandled)
        {
            response.ContentLength = buffer.Length;
            buffer.Position = 0;
            await buffer.CopyToAsync(body, context.HttpContext.RequestAborted);
        }
    }
}

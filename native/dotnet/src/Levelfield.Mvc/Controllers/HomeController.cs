// The three pages.

using Levelfield.Shared;
using Microsoft.AspNetCore.Mvc;

namespace Levelfield.Mvc.Controllers;

[ContentLength]
public sealed class HomeController(PageViewModels pages) : Controller
{
    [AcceptVerbs("GET", "HEAD", Route = "/")]
    public IActionResult Index() => View(pages.Home);

    [AcceptVerbs("GET", "HEAD", Route = "/about")]
    public IActionResult About() => View(pages.About);

    [AcceptVerbs("GET", "HEAD", Route = "/contact")]
    public IActionResult Contact() => View(pages.Contact);
}

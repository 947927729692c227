// The greeting.

using Levelfield.Shared;
using Microsoft.AspNetCore.Mvc;

namespace Levelfield.Mvc.Controllers;

public sealed class HelloController : ControllerBase
{
    [AcceptVerbs("GET", "HEAD", Route = "/helloWorld")]
    public IResult Get() => Answer.Hello;
}

// The plain value, the same for every id.

using Levelfield.Shared;
using Microsoft.AspNetCore.Mvc;

namespace Levelfield.Mvc.Controllers;

public sealed class ValuesController : ControllerBase
{
    [AcceptVerbs("GET", "HEAD", Route = "/api/values/{id}")]
    public IResult Get() => Answer.Value;
}

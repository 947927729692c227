// The users, read from the store.

using Levelfield.Shared;
using Microsoft.AspNetCore.Mvc;

namespace Levelfield.Mvc.Controllers;

public sealed class UsersController(UserStore users) : ControllerBase
{
    [AcceptVerbs("GET", "HEAD", Route = "/users/{id}")]
    public async Task<IResult> Get([FromRoute] string id, CancellationToken requestAborted)
    {
        if (!UserId.TryParse(id, out var userId))
        {
            return Answer.InvalidPathParameter;
        }

        return Answer.Of(await users.FindAsync(userId, requestAborted));
    }
}

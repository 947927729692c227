// The view model of the pages, and its values for each of the three.

namespace Levelfield.Shared;

public sealed record PageViewModel(string Title, string Message, int Year);

public sealed class PageViewModels(Settings settings)
{
    public PageViewModel Home =>
        Page("Home - Levelfield", "The same service, built in many ways: see what each of them costs.");

    public PageViewModel About =>
        Page("About - Levelfield", "One contract, served by a component and by native builds.");

    public PageViewModel Contact =>
        Page("Contact - Levelfield", "Tell us where a build answers otherwise than the contract says.");

    private PageViewModel Page(string title, string message) => new(title, message, settings.Year ?? DateTime.UtcNow.Year);
}

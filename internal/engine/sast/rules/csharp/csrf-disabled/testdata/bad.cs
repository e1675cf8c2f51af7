public class PaymentsController : Controller
{
    // ruleid: csrf-disabled
    [IgnoreAntiforgeryToken]
    public IActionResult Pay(Payment payment) { return Ok(); }
}

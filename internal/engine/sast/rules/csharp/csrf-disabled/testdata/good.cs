public class PaymentsController : Controller
{
    [ValidateAntiForgeryToken]
    public IActionResult Pay(Payment payment) { return Ok(); }
}

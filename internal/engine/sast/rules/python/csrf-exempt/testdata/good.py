from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

# ok: csrf-exempt
@require_POST
def pay(request):
    return transfer(request.user, request.POST["amount"])

# ok: csrf-exempt
@csrf_exempt
def status(request):
    return page("fine")

from django.views.decorators.http import require_POST

# ok: csrf-exempt
@require_POST
def pay(request):
    return transfer(request.user)

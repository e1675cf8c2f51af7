from django.views.decorators.csrf import csrf_exempt

# ruleid: csrf-exempt
@csrf_exempt
def pay(request):
    return transfer(request.user)

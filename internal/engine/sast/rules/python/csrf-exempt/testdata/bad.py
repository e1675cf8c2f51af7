from django.views.decorators.csrf import csrf_exempt

# ruleid: csrf-exempt
@csrf_exempt
def pay(request):
    if request.method == "POST":
        amount = request.POST["amount"]
        transfer(request.user, amount)
    return done()

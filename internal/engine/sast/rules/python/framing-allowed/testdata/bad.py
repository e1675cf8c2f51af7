from django.views.decorators.clickjacking import xframe_options_exempt

# ruleid: framing-allowed
@xframe_options_exempt
def pay(request):
    return form(request)

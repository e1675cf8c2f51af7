from django.views.decorators.clickjacking import xframe_options_sameorigin

# ok: framing-allowed
@xframe_options_sameorigin
def pay(request):
    return form(request)

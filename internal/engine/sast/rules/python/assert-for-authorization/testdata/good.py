from django.core.exceptions import PermissionDenied

def remove(request, number):
    # ok: assert-for-authorization
    if not request.user.is_staff:
        raise PermissionDenied
    drop(number)

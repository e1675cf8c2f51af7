def remove(request, number):
    # ruleid: assert-for-authorization
    assert request.user.is_staff
    drop(number)

from rest_framework import viewsets
from rest_framework.permissions import AllowAny

class Orders(viewsets.ModelViewSet):
    # ruleid: permission-for-everybody
    permission_classes = [AllowAny]

from rest_framework import viewsets
from rest_framework.permissions import IsAuthenticated

class Orders(viewsets.ModelViewSet):
    # ok: permission-for-everybody
    permission_classes = [IsAuthenticated]

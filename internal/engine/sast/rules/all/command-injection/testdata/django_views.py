import os
from django import forms
from django.views.generic import FormView, ListView
from rest_framework import serializers, viewsets
from rest_framework.decorators import action

# Views that an address list of another tree names.


class BackupForm(forms.Form):
    folder = forms.CharField()


def backup(request):
    # ruleid: command-injection
    os.system("tar cf /tmp/x " + request.GET["folder"])
    form = BackupForm(request.POST)
    if form.is_valid():
        # ruleid: command-injection
        os.system("tar cf /tmp/x " + form.cleaned_data["folder"])


class Backups(ListView):
    def get_queryset(self):
        # ruleid: command-injection
        os.system("ls " + self.kwargs["folder"])
        # ruleid: command-injection
        os.system("ls " + self.request.GET["folder"])


class BackupView(FormView):
    def form_valid(self, form):
        # ruleid: command-injection
        os.system("ls " + form.cleaned_data["folder"])


class FolderSerializer(serializers.Serializer):
    def validate_folder(self, value):
        # ruleid: command-injection
        os.system("stat " + value)
        return value


class FolderViewSet(viewsets.ModelViewSet):
    @action(detail=True)
    def check(self, request, pk=None):
        given = FolderSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        # ruleid: command-injection
        os.system("fsck " + given.validated_data["folder"])
        # ok: command-injection
        os.system("fsck " + self.root)

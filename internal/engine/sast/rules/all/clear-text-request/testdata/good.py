import requests


def tool():
    # ok: clear-text-request
    answer = requests.get("https://cdn.tools.org/tool.tgz")
    return answer.content


def health():
    # ok: clear-text-request
    return requests.get("http://localhost:8000/health").ok

#include <curl/curl.h>

void prepare(CURL *curl) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, "/etc/ssl/internal.pem");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
}

#include <curl/curl.h>

void prepare(CURL *curl) {
    // ruleid: certificate-verification-off
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
}

<?php
// ruleid: certificate-verification-off
curl_setopt($ch, CURLOPT_SSL_VERIFYPEER, false);
// ruleid: certificate-verification-off
curl_setopt($ch, CURLOPT_SSL_VERIFYHOST, 0);

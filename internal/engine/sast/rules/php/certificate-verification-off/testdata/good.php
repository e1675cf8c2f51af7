<?php
curl_setopt($ch, CURLOPT_CAINFO, '/etc/ssl/internal.pem');
curl_setopt($ch, CURLOPT_SSL_VERIFYPEER, true);
curl_setopt($ch, CURLOPT_SSL_VERIFYHOST, 2);

<?php
// ruleid: unsafe-deserialization
$cart = unserialize(base64_decode($_COOKIE['cart']));

<?php
// ruleid: cross-site-scripting
echo "<h1>Hello " . $_GET['name'] . "</h1>";

function show() {
    $q = $_REQUEST['q'];
    // ruleid: cross-site-scripting
    print("Results for $q");
}

<?php
// ruleid: path-traversal
readfile('/var/reports/' . $_GET['name']);

function drop() {
    $f = 'uploads/' . $_POST['file'];
    // ruleid: path-traversal
    unlink($f);
}

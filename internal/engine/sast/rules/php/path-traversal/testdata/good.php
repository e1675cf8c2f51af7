<?php
readfile('/var/reports/' . basename($_GET['name']));

file_put_contents('/var/log/app.log', $_POST['text']);
readfile('terms.html');

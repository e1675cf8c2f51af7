<?php
$formula = $_GET['formula'];
// ruleid: code-injection
eval('$result = ' . $formula . ';');

// ruleid: code-injection
call_user_func($_POST['action'], 1);

<?php
// ruleid: open-redirect
header("Location: " . $_GET['next']);

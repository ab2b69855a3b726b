#!/usr/bin/env node
'use strict';
require('./run-built.js')('backend');

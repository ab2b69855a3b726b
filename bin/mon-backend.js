#!/usr/bin/env node
import '../dist/main/backend.js';

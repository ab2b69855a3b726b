#!/usr/bin/env node
import '../dist/main/agent.js';

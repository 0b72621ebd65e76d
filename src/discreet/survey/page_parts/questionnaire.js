"use strict";

// What is asked, with the thresholds of its randomizers: written by Python, read as data.
const form = JSON.parse(document.getElementById("questionnaire").textContent);

"use strict";
// Findings after the first ones are data: their severity, the markup of their line, and the numbers of the parts of what is below
// it. They become elements when the reader comes to them. All markup was escaped when the page was made.
const CHUNK = 200;
const list = document.getElementById("findings");
const inPage = Array.from(list.children);
const data = (id) => {
  let value = null;
  return () => value ??= JSON.parse(document.getElementById(id).textContent);
};
const words = data("words-of-findings");
const later = data("later");
const made = new Map();

function element(index) {
  if (index < inPage.length) return inPage[index];
  if (!made.has(index)) {
    const [severity, line] = later()[0][index - inPage.length];
    const finding = document.createElement("details");
    finding.id = `f${index}`;
    finding.className = `finding ${severity}`;
    finding.innerHTML = `<summary>${line}</summary>`;
    made.set(index, finding);
  }
  return made.get(index);
}

// Toggling does not bubble.
document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.matches("details.finding") && target.children.length === 1) {
    const [findings, parts] = later();
    const numbers = findings[Number(target.id.slice(1)) - inPage.length][2];
    target.insertAdjacentHTML("beforeend", numbers.map((number) => parts[number]).join(""));
  }
}, true);

// The findings that fit the filter, of which so many are in the list.
let fitting = null;
let shown = inPage.length;
function more() {
  const next = fitting ? fitting.slice(shown, shown + CHUNK) : words().slice(shown, shown + CHUNK).map((_, at) => shown + at);
  list.append(...next.map(element));
  shown += next.length;
}
const end = document.getElementById("end");
new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) more();
}, { rootMargin: "600px" }).observe(end);

function openLinked() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", openLinked);
openLinked();

const form = document.getElementById("filter");
if (form) {
  const input = document.getElementById("words");
  const severity = document.getElementById("severity");
  const count = document.getElementById("shown");
  const filter = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = words();
    fitting = [];
    all.forEach((text, index) => {
      if (text.startsWith(severity.value) && wanted.every((word) => text.includes(word))) fitting.push(index);
    });
    shown = 0;
    list.replaceChildren();
    more();
    count.textContent = fitting.length === all.length ? "" : `${fitting.length} of ${all.length}`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target === document.body) {
      event.preventDefault();
      input.focus();
    }
  });
}

// Keys for a teacher: → and ← go from item to item (sections and cards), p switches to large type. The contents mark the current section.
{
  const stops = [...document.querySelectorAll(".lecture section > header, .lecture article")];
  const links = new Map([...document.querySelectorAll(".contents li a")].map(link => [link.hash.slice(1), link]));
  const first = () => stops.findIndex(stop => stop.getBoundingClientRect().bottom > 40);
  const mark = () => {
    const current = stops[Math.max(0, first())]?.closest("section").id;
    for (const [id, link] of links) link.classList.toggle("here", id === current);
  };
  const go = step => {
    const at = first(), top = stops[at]?.getBoundingClientRect().top ?? 0;
    const next = step > 0 && top > 40 ? at : at + step; // an item that is only beginning below is the next one
    const stop = stops[Math.min(Math.max(next, 0), stops.length - 1)];
    stops.forEach(other => other.classList.toggle("at", other === stop));
    stop?.scrollIntoView({block: "start"});
  };
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !stops.length) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      if (event.target.closest?.("pre, .table, .figure")) return; // it scrolls by itself
      go(event.key === "ArrowRight" ? 1 : -1);
    } else if (event.key === "p") {
      const at = stops[Math.max(0, first())];
      document.body.classList.toggle("projected");
      at.scrollIntoView({block: "start"});
    } else return;
    event.preventDefault();
  });
  addEventListener("scroll", mark, {passive: true});
  mark();
  if (matchMedia("(max-width: 900px)").matches) document.querySelector(".contents details")?.removeAttribute("open");
}

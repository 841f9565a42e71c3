// Curves: the values nearest to the pointer. data.charts has, per chart, names, colours and lines of points [x, y, step, time, value].
document.querySelectorAll(".chart svg").forEach((svg, index) => {
  const {names, colours, lines} = data.charts[index], space = svg.namespaceURI;
  const rule = svg.appendChild(document.createElementNS(space, "path"));
  const dots = lines.map((_, i) => svg.appendChild(document.createElementNS(space, "circle")));
  rule.classList.add("rule");
  dots.forEach((dot, i) => dot.classList.add("dot", "c" + colours[i]));
  const hide = event => {
    tell(event, "");
    [rule, ...dots].forEach(mark => mark.style.visibility = "hidden");
  };
  svg.onpointermove = svg.onpointerdown = event => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    const near = lines.map(line => line.reduce((best, p) => Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best));
    const at = near.reduce((best, p) => Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best);
    hide(event);
    const same = near.map(p => Math.abs(p[0] - at[0]) < 3);
    rule.setAttribute("d", `M${at[0]} 14V214`);
    rule.style.visibility = "visible";
    near.forEach((p, i) => {
      dots[i].setAttribute("cx", p[0]);
      dots[i].setAttribute("cy", p[1]);
      dots[i].setAttribute("r", 4);
      dots[i].style.visibility = same[i] ? "visible" : "hidden";
    });
    tell(event, [`step ${at[2]}, ${at[3]}`, ...near.flatMap((p, i) => same[i] ? [`${names[i]}: ${p[4]}`] : [])].join("\n"));
  };
  svg.onpointerleave = hide;
});

SwaggerUIBundle({ url: "/swagger.json", dom_id: "#documentation", deepLinking: true, docExpansion: "none" });
